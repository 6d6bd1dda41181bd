"""Small faults put into the package, one at a time: does a test notice?"""
