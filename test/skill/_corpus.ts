import { existsSync } from 'node:fs'
import path from 'node:path'

const folder =
  process.env['SKILLRAIL_CORPUS'] ?? path.resolve(import.meta.dirname, '../../../shared/corpus')

/** A folder of published skills with the verdicts of the reference validator, where there is one. */
export const corpusFolder: string | undefined = existsSync(
  path.join(folder, 'reference-verdicts.jsonl'),
)
  ? folder
  : undefined
