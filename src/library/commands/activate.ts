import { defineCommand, option } from '../../core/command.ts'
import { safeText } from '../../core/text.ts'
import { argumentText } from '../../skill/arguments.ts'
import { type Activation, activateSkill, checkInvocation } from '../activation.ts'
import { currentTrust, discoverOptionsFrom } from '../discover.ts'
import { findSkill, loadSkill } from '../find-skill.ts'

export const command = defineCommand<Activation>()({
  arguments: {
    '<skill>': 'a name, scope:name, a directory or a SKILL.md',
    '[arguments...]': 'values to insert into the instructions',
  },
  options: {
    source: option.choice('--source <source>', 'user, model or code: who activates it', {
      choices: ['user', 'model', 'code'],
      default: 'user',
    }),
  },
  details: 'A single argument is used as typed text. Put options of the skill after --.',
  examples: ['activate code-review src/index.ts'],
  async run({ runtime, settings }, { arguments: [reference = '', ...words], source }) {
    const search = discoverOptionsFrom(runtime, settings)
    const info = findSkill(reference, search)
    checkInvocation(info, source)
    const skill = loadSkill(info)
    const { level: trustLevel } = currentTrust(skill.info, search)
    return activateSkill({ skill, source, arguments: argumentText(words), trustLevel })
  },
  render: ({ content }, { isTerminal }) => `${isTerminal ? safeText(content) : content}\n`,
  notes: ({ diagnostics }) => diagnostics,
})
