import { exitCode, safeLine } from '../../base/index.ts'
import { openView, pageText } from '../../view/index.ts'
import { listening } from '../_listening.ts'
import { openAddress } from '../_open-address.ts'
import { wholeNumber } from '../../base/option-values.ts'
import { toolProject } from '../../tools/commands/project-tools.ts'
import { viewWorld } from '../_view-world.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

interface Options {
  port?: string | undefined
  open?: boolean | undefined
  idleExit: string
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .option('--port <number>', 'the port on 127.0.0.1 (default: one that is free)')
      .option('--open', 'open the page in your browser')
      .option('--idle-exit <seconds>', 'end after so long without a request; 0: never', '1800')
      .addHelpText(
        'after',
        `
Shows skills, triggers, chains, runs, tools, workflows and sessions of this project in a browser. The
page only shows: nothing in it runs, approves or changes anything, and no tool or server is started.
Only who has the address sees something, and it works once: when it was used, the next one is printed.
Ctrl-C ends it.

Example:
  $ skillrail view --open
`,
      )
  },
  async run(context, _positionals, options) {
    const { runtime, output, signal } = context
    const port = wholeNumber('--port', options.port, { least: 0, most: 65_535 })
    const idle = wholeNumber('--idle-exit', options.idleExit, { least: 0, most: 2_000_000 })
    const facts = {
      world: viewWorld(context),
      page: await pageText(),
      runtime,
      port,
      idleMs: idle * 1000,
      onUsed(next: string) {
        if (context.options.json) return
        output.note('It was opened. For another tab, since an address works once:')
        output.line(next)
      },
      signal,
    }
    const view = await listening(port, () => openView(facts))
    const { address } = view
    if (context.options.json) output.json({ address, port: view.port, pid: process.pid })
    else {
      output.line(address)
      output.note(`Shows ${safeLine(toolProject(context))}. Ctrl-C ends it.`)
    }
    if (options.open === true) {
      void openAddress(view.addressToOpen, runtime).then((isOpened) => {
        if (!isOpened) output.failure('No browser could be opened; open the address yourself.')
      })
    }
    const reason = await view.ended
    if (reason === 'idle') output.note('Nobody asked for a while; it has ended.')
    return exitCode.done
  },
})
