/** The agent clients whose prompts Skillrail can reach, in alphabetical order. */
export const platforms = [
  'claude',
  'codex',
  'copilot',
  'cursor',
  'gemini',
  'opencode',
  'pi',
  'qwen',
] as const

export type Platform = (typeof platforms)[number]

export function isPlatform(name: string): name is Platform {
  return platforms.some((platform) => platform === name)
}
