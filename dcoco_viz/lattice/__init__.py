"""The mathematics of one drafted block: tensors in, tensors out. Knows no engine and no page."""
