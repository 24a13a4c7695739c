import { resolve } from 'node:path'
import { defineCommand, option } from '../../core/command.ts'
import { writeNamedFile } from '../../core/write-files.ts'
import { frontmatterJsonSchema } from '../field-table.ts'

/** Prints the schema, or where it was written: as `path`, and as `output` the way it was given. */
export const command = defineCommand<Readonly<Record<string, unknown>>>()({
  options: { output: option.text('-o, --output <file>', 'write it to a file') },
  examples: ['schema --output skill.schema.json'],
  async run({ runtime }, { output }) {
    const schema = frontmatterJsonSchema()
    if (output === undefined) return schema
    const path = resolve(runtime.cwd, output)
    await writeNamedFile(path, `${JSON.stringify(schema, null, 2)}\n`)
    return { path, output }
  },
  render: (result) => ('output' in result ? '' : `${JSON.stringify(result, null, 2)}\n`),
  notes: ({ output }) => (typeof output === 'string' ? [`wrote ${output}`] : []),
})
