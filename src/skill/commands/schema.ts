import { resolve } from 'node:path'
import { defineCommand } from '../../core/command.ts'
import { writeNamedFile } from '../../core/write-files.ts'
import { frontmatterJsonSchema } from '../schema.ts'

/** The schema itself, or where it was written. */
type SchemaResult = ReturnType<typeof frontmatterJsonSchema> | WrittenSchema

interface WrittenSchema {
  path: string
  /** As it was given. */
  output: string
}

export const command = defineCommand<SchemaResult>()({
  options: { output: { kind: 'text', flags: '-o, --output <file>', help: 'write it to a file' } },
  examples: ['schema --output skill.schema.json'],
  async run({ runtime }, { output }) {
    const schema = frontmatterJsonSchema()
    if (output === undefined) return schema
    const path = resolve(runtime.cwd, output)
    await writeNamedFile(path, `${JSON.stringify(schema, null, 2)}\n`)
    return { path, output }
  },
  render: (result) => (isWritten(result) ? '' : `${JSON.stringify(result, null, 2)}\n`),
  notes: (result) => (isWritten(result) ? [`wrote ${result.output}`] : []),
})

function isWritten(result: SchemaResult): result is WrittenSchema {
  return typeof Reflect.get(result, 'output') === 'string'
}
