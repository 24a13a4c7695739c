import fc from 'fast-check'
import { expect, it } from 'vitest'
import { guardedCommand, isGuardedCommand } from '../../src/hooks/guarded-command.ts'

const path = fc.constantFrom(
  '/home/a/.local/share/skillrail/hook/skillrail-hook',
  "'/home/a b/skillrail-hook'",
  '"$HOME/.local/share/skillrail/hook/skillrail-hook"',
  '"${CLAUDE_PLUGIN_ROOT}/skillrail-hook"',
)
const argument = fc.constantFrom('claude 1/4', 'codex', 'copilot preToolUse')

it('recognises each command that a client registers', () => {
  fc.assert(
    fc.property(path, argument, (program, words) => {
      expect(isGuardedCommand(guardedCommand(program, words))).toBe(true)
    }),
  )
})

it('does not recognise a line that also runs something else', () => {
  const more = fc.constantFrom('echo x | ', 'x; ', '{ ', 'A=1 ', '(', ' ', '\n')
  fc.assert(
    fc.property(path, argument, more, (program, words, before) => {
      const command = guardedCommand(program, words)
      expect(isGuardedCommand(`${before}${command}`)).toBe(false)
      expect(isGuardedCommand(`${command}; x`)).toBe(false)
    }),
  )
  for (const program of ['"$(x)"', 'a;b', '`x`', '"`x`"', '$(x)', 'a b']) {
    expect(isGuardedCommand(guardedCommand(program, 'claude'))).toBe(false)
  }
})
