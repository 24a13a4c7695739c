import { basename, dirname } from 'node:path'
import { findWorkspace } from '#core/read-files'
import type { Diagnostic } from '#core/errors'
import { currentTrust, discoverOptionsFrom } from '#library/discover'
import type { InvocationSource } from '#library/activation'
import { isUnusable } from '#skill/errors'
import type { TriggerDeclaration } from '#skill/model'
import { costOf, type InjectedReference, type Injection, planInjection } from '#trigger/inject'
import { matchTriggers } from '#trigger/examples'
import type { TriggerMatch, TriggerSkill } from '#trigger/match'
import { readTriggers } from '#trigger/read-triggers'
import { isRequired, matchToolCall, type McpCall, type ToolCall } from '#trigger/tool-call'
import { type Settled, readText, skillsFor } from './skills.ts'
import { explainCall, explainPrompt, type SkillExplanation } from '#trigger/explain'

interface InjectionRequest {
  prompt: string
  references: readonly string[]
  tokenBudget: number | undefined
  /** Who wrote the prompt. Skills that only users may invoke do not see a prompt of the model. */
  source?: InvocationSource | undefined
}

/** The triggers that fire, and what they inject. */
export interface InjectionAnswer extends Injection {
  /** The skills whose triggers were tried. */
  skills: readonly TriggerSkill[]
  matches: readonly TriggerMatch[]
}

/** Returns what a hook would inject for a prompt. A skill that is named counts as trusted. */
export function injectionFor(context: Settled, request: InjectionRequest): InjectionAnswer {
  const { prompt, references, tokenBudget, source } = request
  const { skills, mayInject, ...set } =
    references.length > 0 ? namedSkills(context, references) : installedSkills(context, source)
  const { matches, ...matching } = matchTriggers(prompt, skills)
  const injection = planInjection(matches, { tokenBudget, mayInject })
  const diagnostics = [set, matching, injection].flatMap((part) => part.diagnostics)
  return { ...injection, skills, matches, diagnostics }
}

interface CallRequest extends Pick<InjectionRequest, 'references' | 'tokenBudget'> {
  call: ToolCall | McpCall
}

/** Returns what a hook would inject for a tool call. A skill that is named counts as trusted. */
export async function callInjectionFor(
  context: Settled,
  request: CallRequest,
): Promise<InjectionAnswer> {
  const { call, references, tokenBudget } = request
  const { skills, mayInject, ...set } =
    references.length > 0 ? namedSkills(context, references) : installedSkills(context)
  const matches = await matchToolCall(call, skills, placeOfCalls(context))
  const injection = planInjection(matches, { tokenBudget, mayInject })
  const diagnostics = [...set.diagnostics, ...injection.diagnostics]
  return { ...injection, skills, matches, diagnostics }
}

/** What globs and paths of tool calls are relative to. */
export function placeOfCalls({ runtime }: Settled): { cwd: string; root: string } {
  return { cwd: runtime.cwd, root: findWorkspace(runtime.cwd, runtime) }
}

/** What `triggers match` prints: the triggers that a prompt or a tool call fires, and what they inject. */
export interface MatchResult extends Pick<Injection, 'deferred' | 'diagnostics'> {
  prompt: string
  matches: readonly ShownMatch[]
  /** Without the text. */
  injected: readonly Omit<InjectedReference, 'text'>[]
}

interface ShownMatch extends Pick<TriggerMatch, 'text' | 'promptLine'> {
  skill: string
  kind: 'match' | NonNullable<TriggerDeclaration['when']>['kind']
  match: TriggerDeclaration['match']
  inject: string
  line: TriggerDeclaration['line']
  /** Estimated; null if the reference cannot be read. */
  tokens: number | null
  /** Whether the tool call is denied until the model has the reference. */
  denies: true | undefined
}

export function matchResult(
  prompt: string,
  { matches, injected, deferred, diagnostics }: InjectionAnswer,
): MatchResult {
  return {
    prompt,
    matches: matches.map(({ skill, trigger, text, promptLine }) => {
      const { match, inject, line, when } = trigger
      const tokens = costOf(skill, trigger).tokens ?? null
      const kind = when?.kind ?? 'match'
      const denies = isRequired(trigger) || undefined
      return { skill: skill.name, kind, match, inject, line, text, promptLine, tokens, denies }
    }),
    injected: injected.map(({ text: _text, ...reference }) => reference),
    deferred,
    diagnostics,
  }
}

interface SkillSet {
  skills: readonly TriggerSkill[]
  diagnostics: readonly Diagnostic[]
  mayInject: (skill: TriggerSkill) => boolean
}

function installedSkills(context: Settled, source: InvocationSource = 'user'): SkillSet {
  const { skills: all, diagnostics } = skillsFor(context, [])
  const skills = all.filter(({ fields }) => source !== 'model' || !fields.disableModelInvocation)
  const options = discoverOptionsFrom(context.runtime, context.settings)
  // Only what matched is compared with what was accepted and locked, each once.
  const known = new Map<string, boolean>()
  const mayInject = ({ path }: TriggerSkill): boolean => {
    const info = skills.find((skill) => skill.path === path)
    const isTrusted = () =>
      info?.trustLevel === 'trusted' && currentTrust(info, options).level === 'trusted'
    const may = known.get(path) ?? isTrusted()
    known.set(path, may)
    return may
  }
  return { skills, diagnostics, mayInject }
}

/** A skill that cannot be installed yet, for want of a description say, can be tried all the same. */
function namedSkills(context: Settled, references: readonly string[]): SkillSet {
  const found = references.map((reference) => {
    try {
      return skillsFor(context, [reference])
    } catch (error) {
      const [broken] = isUnusable(error) ? error.diagnostics : []
      if (!broken) throw error
      const { path } = broken
      const { triggers, diagnostics } = readTriggers(readText(path), path)
      const directory = dirname(path)
      return { skills: [{ name: basename(directory), path, directory, triggers }], diagnostics }
    }
  })
  return {
    skills: found.flatMap(({ skills }) => skills),
    diagnostics: found.flatMap(({ diagnostics }) => diagnostics),
    mayInject: () => true,
  }
}

/** A {@link MatchResult} that says of the triggers why they fired, or nearly did. */
export interface ExplainedMatch extends MatchResult {
  explanation: readonly SkillExplanation[]
  /** How many triggers there are. */
  triggers: number
  /** How many were tried without a match. */
  quiet: number
  /** How many were left out, because the time was over. */
  untried: number
}

/** `triggers match --explain` for a tool call, as {@link matchWhileTyping} for a prompt. */
export async function matchCallWhileTyping(
  context: Settled,
  call: ToolCall | McpCall,
): Promise<ExplainedMatch> {
  const answer = await callInjectionFor(context, { call, references: [], tokenBudget: undefined })
  const skills = answer.skills.filter(({ triggers }) => triggers.length > 0)
  const all = await explainCall(call, skills, placeOfCalls(context))
  const explanation = all
    .map((one) => ({ ...one, verdicts: one.verdicts.filter(({ outcome }) => outcome === 'fired') }))
    .filter(({ verdicts }) => verdicts.length > 0)
    .slice(0, maxVerdicts)
  const triggers = skills.reduce((sum, skill) => sum + skill.triggers.length, 0)
  const fired = explanation.reduce((sum, { verdicts }) => sum + verdicts.length, 0)
  const result = matchResult(callText(call), answer)
  return { ...result, explanation, triggers, quiet: triggers - fired, untried: 0 }
}

/** A tool call in one line, in place of a prompt. */
export function callText(call: ToolCall | McpCall): string {
  if (call.kind === 'mcp') return call.tool
  const { kind, paths, command } = call
  return [kind, ...paths, command].filter((text) => text !== '').join(' ')
}

/** The time for explanations: a user types and waits for the answer. */
const patienceMs = 300
const maxVerdicts = 300

/** `triggers match --explain` while a prompt is typed; with very many triggers some are left out (`untried`). */
export function matchWhileTyping(context: Settled, prompt: string): ExplainedMatch {
  const answer = injectionFor(context, { prompt, references: [], tokenBudget: undefined })
  const skills = answer.skills.filter(({ triggers }) => triggers.length > 0)
  const fired = new Set(answer.matches.map(({ skill }) => skill))
  const { elapsed } = context.runtime
  const end = elapsed() + patienceMs
  const explained = new Map<TriggerSkill, SkillExplanation>()
  let said = 0
  let tried = 0
  const firedFirst = [...fired, ...skills.filter((skill) => !fired.has(skill))]
  for (const skill of firedFirst) {
    if (elapsed() > end || said > maxVerdicts) break
    for (const explanation of explainPrompt(prompt, [skill], answer.skills)) {
      const verdicts = explanation.verdicts.filter(({ outcome }) => outcome !== 'no-match')
      tried += explanation.verdicts.length
      said += verdicts.length
      if (verdicts.length > 0) explained.set(skill, { ...explanation, verdicts })
    }
  }
  const triggers = skills.reduce((sum, skill) => sum + skill.triggers.length, 0)
  return {
    ...matchResult(prompt, answer),
    explanation: skills.flatMap((skill) => explained.get(skill) ?? []),
    triggers,
    quiet: tried - said,
    untried: triggers - tried,
  }
}
