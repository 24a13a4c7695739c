import type { Runtime } from '../../base/index.ts'
import type { Activation, SkillManager } from '../../library/index.ts'
import type { CallRules } from '../approval/permit.ts'
import type { SessionPart } from '../session-part.ts'
import { readHooks } from '../skill-hooks/read-hooks.ts'
import { createSkillHooks, type SkillHooks } from '../skill-hooks/skill-hooks.ts'
import type { PermissionMode } from '../subagents/config.ts'

export interface HeldHooksOptions {
  manager: SkillManager | undefined
  runtime: Runtime
  /** The working directory. */
  project: string
  environment?: readonly string[] | undefined
  mode: PermissionMode
  notice: (message: string) => void
}

/** The hooks of skills that a subagent has from the start, for as long as it lives; often none. */
export function heldHooks(
  activations: readonly Activation[],
  options: HeldHooksOptions,
): Pick<CallRules, 'beforeTool'> & Pick<SessionPart, 'afterTool' | 'beforeStop'> {
  const hooked = activations.filter(({ effects }) => effects.hooks !== undefined)
  if (hooked.length === 0) return {}
  let opening: Promise<SkillHooks | undefined> | undefined
  const hooks = (): Promise<SkillHooks | undefined> => (opening ??= open(hooked, options))
  return {
    async beforeTool(tool, input, { toolCallId, signal }) {
      const verdict = await (await hooks())?.before(tool, input, { id: toolCallId, signal })
      return verdict ?? { decision: undefined, reason: '', input: undefined }
    },
    afterTool: async (...call) => (await hooks())?.after(...call),
    beforeStop: async (text) => (await hooks())?.stop(text, undefined),
  }
}

async function open(
  activations: readonly Activation[],
  { manager, runtime, project, environment = [], mode, notice }: HeldHooksOptions,
): Promise<SkillHooks | undefined> {
  if (manager === undefined) return undefined
  const skills = await Promise.all(
    activations.map(async ({ name, effects }) => {
      const skill = await manager.get(name)
      return {
        name,
        directory: skill?.info.directory ?? '',
        hooks: readHooks(effects.hooks).hooks,
      }
    }),
  )
  return createSkillHooks({
    skills: () => skills,
    confirm: (name) => manager.requireTrusted(name, 'run its hooks'),
    project,
    session: runtime.id(),
    mode,
    runtime,
    environment,
    notice,
  })
}
