/**
 * How a client's user calls a skill: `/saw`, Codex's `$saw`, pi's `/skill:saw`. `expanded`: the hook
 * sees the text of the skill, and after it what was typed.
 */
export type Sigil = 'slash' | 'dollar' | 'skill-colon' | 'expanded'

/** What the hook needs to know of the installed skills to recognise a call of one. */
export interface InstalledSkills {
  has(name: string): boolean
  /** The text of the skill's `SKILL.md`, or undefined. */
  textOf(name: string): string | undefined
}

/**
 * The prompt as triggers are written for it: a call of an installed skill is `/skill arguments`,
 * everything else stays as it is.
 */
export function canonicalPrompt(prompt: string, sigil: Sigil, skills: InstalledSkills): string {
  if (sigil === 'slash') return prompt
  if (sigil === 'expanded') return typedInvocation(prompt, skills)
  const call = callForms[sigil].exec(prompt)
  const name = call?.[1]
  if (call === null || name === undefined || !skills.has(name)) return prompt
  return `/${name}${prompt.slice(call[0].length)}`
}

const callForms = {
  dollar: /^[ \t]*\$([\p{L}\p{N}_-]+)(?![\p{L}\p{N}_:.-])/u,
  'skill-colon': /^[ \t]*\/skill:([\p{L}\p{N}_-]+)(?![\p{L}\p{N}_:.-])/u,
} as const

/** The last line, where everything before it is text of the skill that the line calls. */
function typedInvocation(prompt: string, skills: InstalledSkills): string {
  const at = prompt.lastIndexOf('\n\n/')
  if (at < 0) return prompt
  const typed = prompt.slice(at + 2)
  const name = /^\/([\p{L}\p{N}_-]+)/u.exec(typed)?.[1]
  if (name === undefined) return prompt
  const body = prompt.slice(0, at).trim()
  return skills.textOf(name)?.includes(body) === true ? typed : prompt
}
