"""What is protected: attributes, hierarchies, tables, and the files and frames they come from."""
