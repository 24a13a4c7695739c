import { findWorkspace } from '../trust/index.ts'
import type { ViewWorld } from '../view/index.ts'
import { runWorld } from './_view-runs.ts'
import { skillWorld } from './_view-skills.ts'
import { toolWorld } from './_view-tools.ts'
import { workflowWorld } from './_view-workflows.ts'
import type { CommandContext } from './command.ts'
import { packageVersion } from '../base/runtime.ts'

/** Everything that the view shows, of the project that the command works in. */
export function viewWorld(given: CommandContext): ViewWorld {
  const context = silentContext(given)
  const { runtime } = context
  return {
    project: () => ({ project: findWorkspace(runtime.cwd, runtime), version: packageVersion() }),
    ...skillWorld(context),
    ...runWorld(context),
    ...toolWorld(context),
    ...workflowWorld(context),
  }
}

/** What answers a page says nothing in the terminal: the page says it. */
function silentContext(context: CommandContext): CommandContext {
  const { output, options } = context
  const say = (): void => undefined
  const silent = { note: say, styled: say, failure: say, detail: say, live: say, diagnostics: say }
  return { ...context, options: { ...options, json: true }, output: { ...output, ...silent } }
}
