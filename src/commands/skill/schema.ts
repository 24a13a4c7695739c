import { resolve } from 'node:path'
import { defineCommand, option } from '#core/command'
import { indentedJson } from '#core/json'
import { writeNamedFile } from '#core/write-files'
import { frontmatterJsonSchema } from '#skill/field-table'

/**
 * Prints the schema, or the place of the written file: its absolute `path`, and `output` as the
 * user wrote it.
 */
export const command = defineCommand<Readonly<Record<string, unknown>>>()({
  options: { output: option.text('-o, --output <file>', 'write it to a file') },
  examples: ['new --schema --output skill.schema.json'],
  async run({ runtime }, { output }) {
    const schema = frontmatterJsonSchema()
    if (output === undefined) return schema
    const path = resolve(runtime.cwd, output)
    await writeNamedFile(path, indentedJson(schema))
    return { path, output }
  },
  render: (result) => ('output' in result ? '' : indentedJson(result)),
  notes: ({ output }) => (typeof output === 'string' ? [`wrote ${output}`] : []),
})
