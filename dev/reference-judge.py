"""The verdicts of the reference validator: a JSON array [text, directory or null] a line in, errors and texts out."""

import json
import sys
import warnings
from pathlib import Path

from skills_ref import parser, validator
from skills_ref.errors import ParseError

warnings.simplefilter("ignore")


def judge(text, directory):
    # What read_text() does to line ends.
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    try:
        metadata, _ = parser.parse_frontmatter(text)
        errors = validator.validate_metadata(metadata, Path(directory) if directory else None)
        texts = [[k, v if isinstance(v, str) else None] for k, v in metadata.items()]
        return {"errors": errors, "texts": texts}
    except ParseError as error:
        return {"errors": [str(error)]}
    except Exception as error:
        return {"errors": [f"CRASH {type(error).__name__}: {error}"]}


for line in sys.stdin:
    print(json.dumps(judge(*json.loads(line))))
