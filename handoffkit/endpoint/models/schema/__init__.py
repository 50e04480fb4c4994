"""A value for any JSON schema that a data model makes."""
