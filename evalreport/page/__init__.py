"""The HTML report: elements, charts, sentences, sections, rendering."""
