"""Workbooks as Excel writes them, made by hand."""

from tests.ingest.files.outcomes import zipped

SCHEMA = "http://schemas.openxmlformats.org"


def text(value):
    return f'<c t="inlineStr"><is><t>{value}</t></is></c>'


def number(value):
    return f"<c><v>{value}</v></c>"


def workbook(*tables):
    """An Excel file of sheets, each of rows of cells."""
    names = range(1, len(tables) + 1)
    relation = f"{SCHEMA}/officeDocument/2006/relationships"
    main = f'xmlns="{SCHEMA}/spreadsheetml/2006/main"'
    members = {
        "[Content_Types].xml": f'<Types xmlns="{SCHEMA}/package/2006/content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{SCHEMA}/package/2006/relationships">'
        f'<Relationship Id="r" Type="{relation}/officeDocument" Target="xl/workbook.xml"/>'
        "</Relationships>",
        "xl/workbook.xml": f'<workbook {main} xmlns:r="{relation}"><sheets>'
        + "".join(f'<sheet name="s{n}" sheetId="{n}" r:id="r{n}"/>' for n in names)
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": "<Relationships "
        f'xmlns="{SCHEMA}/package/2006/relationships">'
        + "".join(
            f'<Relationship Id="r{n}" Type="{relation}/worksheet" Target="worksheets/s{n}.xml"/>'
            for n in names
        )
        + "</Relationships>",
    }
    for n, table in zip(names, tables, strict=True):
        rows = "".join(f"<row>{''.join(cells)}</row>" for cells in table)
        members[f"xl/worksheets/s{n}.xml"] = (
            f"<worksheet {main}><sheetData>{rows}</sheetData></worksheet>"
        )
    return zipped(**members)
