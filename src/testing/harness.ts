import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { checkArgument, checkOptions, oneOf, type OptionOwner, rule } from '#core/api-options'
import type { Diagnostic } from '#core/errors'
import { systemRuntime } from '#core/runtime'
import type { ActivationEffects, InvocationSource } from '#library/activation'
import { type OfferedTool, type SkillDefinition, SkillManager, defineSkill } from '#library/manager'
import type { Skill } from '#library/model'
import { serializeSkill } from '#skill/serialize'
import { SkillInvocationError } from '#skill/errors'
import { type Validation, validateSkill } from '#skill/validate'
import type { TrustLevel } from '#trust/model'

export interface SkillHarnessOptions {
  /** The level of a skill from a directory. Default `trusted`, as in a project its user trusts. */
  trust?: TrustLevel | undefined
}

export interface SkillInvokeOptions {
  source?: InvocationSource | undefined
}

/** Why a skill was not activated. */
export interface SkillRefusal {
  /** `model-invocation-disabled` or `user-invocation-disabled`. */
  code: string
  message: string
}

/** What one invocation came to. Of a refused one everything but the refusal is empty. */
export interface SkillInvocation {
  skill: string
  source: InvocationSource
  arguments: string
  refusal: SkillRefusal | undefined
  /** Exactly what a model would get: the body after substitution, wrapped, with its resources. */
  content: string
  tools: readonly OfferedTool[]
  /** What the skill may do while it is active. */
  effects: ActivationEffects
  /** What was found and not done. */
  diagnostics: readonly Diagnostic[]
}

/**
 * One skill alone, as an application would load it: no model, no network, and nothing of the skills,
 * the configuration and the trust of the user who runs the test.
 *
 * @example
 * const harness = await SkillTestHarness.load('skills/greet')
 * const { content } = await harness.invoke('Ada')
 */
export class SkillTestHarness {
  /** What `skillrail validate` says. Clients load some skills that have errors; so does this. */
  readonly validation: Validation
  /** The manager behind it, for tools, resources and everything that is not wrapped here. */
  readonly manager: SkillManager
  readonly #source: string | Skill
  #name: string | undefined

  private constructor(source: string | Skill, manager: SkillManager, validation: Validation) {
    this.#source = source
    this.manager = manager
    this.validation = validation
  }

  /**
   * Takes a skill's directory (or its `SKILL.md`), relative to the working directory, or a
   * definition. What is wrong with a file is in `validation` and not thrown.
   * @throws {SkillValidationError} for a definition without a usable name or description.
   */
  static async load(
    source: string | SkillDefinition,
    options: SkillHarnessOptions = {},
  ): Promise<SkillTestHarness> {
    checkOptions(options, harnessOptions)
    if (typeof source !== 'string') {
      const skill = defineSkill(source)
      return new SkillTestHarness(skill, isolatedManager([]), validateDefinition(source))
    }
    const path = resolve(source)
    const directory = /^skill\.md$/i.test(basename(path)) ? dirname(path) : path
    const manager = isolatedManager(options.trust === 'untrusted' ? [] : [directory])
    return new SkillTestHarness(path, manager, await manager.validate(path))
  }

  /**
   * The skill with its fields, body and resources.
   * @throws {SkillError} when it cannot be used at all; `validation` says why.
   */
  async skill(): Promise<Skill> {
    this.#name ??= (await this.manager.register(this.#source)).name
    const skill = await this.manager.get(this.#name)
    if (skill === undefined) throw new TypeError(`the skill ${this.#name} was deregistered`)
    return skill
  }

  /**
   * Activates the skill as a user who typed `/name args` would, or a model, or a program. The
   * skill stays active until {@link SkillTestHarness.deactivate}. A refusal is a result.
   * @throws {SkillError} when the skill cannot be used at all.
   */
  async invoke(args = '', options: SkillInvokeOptions = {}): Promise<SkillInvocation> {
    checkArgument(args, 'The arguments of the skill', rule.text)
    const { source = 'user' } = checkOptions(options, invokeOptions)
    const { info } = await this.skill()
    const asked = { skill: info.name, source, arguments: args }
    try {
      const { content, effects, diagnostics } = await this.manager.activate(info.name, args, {
        source,
      })
      const tools = this.manager.getAllTools()
      return { ...asked, refusal: undefined, content, tools, effects, diagnostics }
    } catch (error) {
      if (!(error instanceof SkillInvocationError)) throw error
      const { code, message } = error
      return { ...asked, ...nothing, refusal: { code, message } }
    }
  }

  /** Ends the activation; the tools it offered are gone. False when the skill was not active. */
  async deactivate(): Promise<boolean> {
    return this.#name === undefined ? false : await this.manager.deactivate(this.#name)
  }
}

const harnessOptions: OptionOwner<SkillHarnessOptions> = {
  of: 'a SkillTestHarness',
  rules: { trust: oneOf('trusted', 'untrusted') },
}

const invokeOptions: OptionOwner<SkillInvokeOptions> = {
  of: 'an invocation',
  rules: { source: oneOf('user', 'model', 'code') },
}

const nothing = {
  content: '',
  tools: [],
  effects: {
    preApproved: [],
    narrowedTo: undefined,
    model: undefined,
    fork: undefined,
    hooks: undefined,
  },
  diagnostics: [],
} as const satisfies Partial<SkillInvocation>

/** A manager with an empty home, no environment and no cache between processes. */
function isolatedManager(trustedPaths: readonly string[]): SkillManager {
  const nowhere = join(tmpdir(), 'skillrail-test-harness', 'nowhere')
  return new SkillManager({
    runtime: systemRuntime({ env: {}, home: nowhere, cwd: nowhere }),
    autoDiscover: false,
    useIndex: false,
    trustedPaths,
  })
}

function validateDefinition({ body, ...fields }: SkillDefinition): Validation {
  return validateSkill(serializeSkill({ fields, body }), {
    path: 'SKILL.md',
    directoryName: fields.name,
  })
}
