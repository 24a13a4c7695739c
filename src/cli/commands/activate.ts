import { exitCode, safeText, UsageError } from '../../base/index.ts'
import {
  activateSkill,
  checkInvocation,
  currentTrust,
  discoverOptionsFrom,
  findSkill,
  type InvocationSource,
  loadSkill,
} from '../../library/index.ts'
import { argumentText } from '../_argument-text.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

interface Options {
  source: string
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .argument('<skill>', 'a name, scope:name, a directory or a SKILL.md')
      .argument('[arguments...]', 'what is put into the instructions')
      .option('--source <source>', 'user, model or code: who asks for it', 'user')
      .addHelpText(
        'after',
        '\nA single argument is taken as the text that was typed; options of the skill go behind --.\n\nExample:\n  $ skillrail activate code-review src/index.ts\n',
      )
  },
  async run({ runtime, settings, options: globals, output }, positionals, options) {
    const source = readSource(options.source)
    const [reference = '', ...words] = positionals
    const search = discoverOptionsFrom(runtime, settings)
    const info = findSkill(reference, search)
    checkInvocation(info, source)
    const skill = loadSkill(info)
    const { level } = currentTrust(skill.info, search)
    const activation = activateSkill({
      skill,
      source,
      arguments: argumentText(words),
      trustLevel: level,
    })
    if (globals.json) output.json(activation)
    else {
      output.line(output.isTerminal ? safeText(activation.content) : activation.content)
      output.diagnostics(activation.diagnostics)
    }
    return exitCode.done
  },
})

function readSource(value: string): InvocationSource {
  if (value === 'user' || value === 'model' || value === 'code') return value
  throw new UsageError({
    code: 'wrong-use',
    message: `--source ${value} is not known; allowed: user, model, code`,
    hint: 'skillrail activate --help shows what is allowed.',
  })
}
