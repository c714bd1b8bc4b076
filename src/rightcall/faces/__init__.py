"""What people and programs touch: the command line and, later, others. A face only translates."""
