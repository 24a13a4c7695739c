import { resolve } from 'node:path'
import { exitCode } from '../../base/index.ts'
import { frontmatterJsonSchema } from '../../skill/index.ts'
import { writeNamedFile } from '../_named-file.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

interface Options {
  output?: string | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .option('-o, --output <file>', 'write it to a file')
      .addHelpText('after', '\nExample:\n  $ skillrail schema --output skill.schema.json\n')
  },
  async run({ runtime, output, options: globals }, _positionals, options) {
    const schema = frontmatterJsonSchema()
    if (options.output === undefined) {
      output.json(schema)
      return exitCode.done
    }
    const path = resolve(runtime.cwd, options.output)
    await writeNamedFile(path, `${JSON.stringify(schema, null, 2)}\n`)
    if (globals.json) output.json({ path })
    else output.note(`wrote ${options.output}`)
    return exitCode.done
  },
})
