import { parseStrictDocument } from './strictyaml/parser.ts'
import { fieldsOf, type StrictField } from './strictyaml/tree.ts'

/**
 * The fields of a frontmatter as the reference validator reads them; undefined where it is no
 * mapping. `raw` is what stands between the first two `---` of the file. Throws a
 * {@link StrictFailure}, whose position counts from 0 and from the beginning of `raw`.
 */
export function readReferenceFields(raw: string): StrictField[] | undefined {
  return fieldsOf(parseStrictDocument(raw))
}
