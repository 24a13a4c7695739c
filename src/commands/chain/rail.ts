import { defineCommand, option } from '#core/command'
import { exitCode } from '#core/errors'
import { linesText, safeLine } from '#core/text'
import { openProject } from '#project/chains'
import { type RailReply, sayInTerminal } from '#rail/terminal-word'

export const command = defineCommand<RailReply>()({
  arguments: {
    '[word]': 'status (default), pause, resume, retry, stop or accept',
    '[text...]': 'after accept: the step, and why',
  },
  options: {
    run: option.text(
      '--run <run>',
      'the run of the chain (default: the only one here; status shows all)',
    ),
  },
  details:
    'Does what the same words do as a prompt in the session of the agent, which learns it with your next prompt there. Use it where a client does not say who typed a prompt. It asks at the terminal first, and is refused below an agent client. For a gate: skillrail runs approve.',
  examples: [
    'rail status',
    'rail accept implement "the test needs a network" --run 0mh2k9x0ab12cd',
  ],
  run: async (context, { arguments: words, run }) =>
    sayInTerminal(context, openProject(context), {
      words: words.length === 0 ? ['status'] : words,
      run,
    }),
  render: ({ line, others = [] }) =>
    linesText([line, ...others.map((one) => one.line)].map((one) => safeLine(one))),
  exitCode: ({ hasWorked }) => (hasWorked ? exitCode.done : exitCode.failed),
})
