import { cutText, safeLine } from '#core/text'

/** A user's decision about a rail. */
export type RailDecision =
  | { word: 'approve'; step: string | undefined }
  | { word: 'reject'; step: string | undefined; why: string }
  | { word: 'accept'; step: string; why: string }
  | { word: 'pause' | 'resume' | 'retry' | 'stop' }

/** A whole prompt about a rail. */
export type RailWord =
  | RailDecision
  | { word: 'status' }
  /** A prompt with an incomplete decision: the message says what is missing. */
  | { word: 'unclear'; message: string }

const verbs = 'approve|reject|accept|status|pause|resume|retry|stop'
/**
 * Also matches a call of the skill `rail`: `/rail`, `$rail` in Codex, `/skill:rail` in pi, and with the name of
 * its package, `/skillrail:rail`.
 */
const beginning = new RegExp(String.raw`^(?:[/$](?:[\w.-]+:)*)?rail (${verbs})(?: |$)`)

/** Reads a prompt. `steps`: the possible steps. Returns undefined for any other prompt. */
export function readRailWord(prompt: string, steps: readonly string[]): RailWord | undefined {
  const text = prompt.trim().replaceAll(/\s+/g, ' ')
  const [whole = '', verb = ''] = beginning.exec(text) ?? []
  if (whole === '') return undefined
  const rest = text.slice(whole.length)
  const [first = '', ...others] = rest.split(' ')
  const isStep = steps.includes(first)
  const why = others.join(' ')
  switch (verb) {
    case 'approve':
      if (rest === '' || (isStep && why === ''))
        return { word: 'approve', step: first || undefined }
      return { word: 'unclear', message: 'Write `rail approve`, or `rail approve STEP`.' }
    case 'reject': {
      const reason = isStep ? why : rest
      if (reason === '') return { word: 'unclear', message: 'Say why: `rail reject WHY`.' }
      return { word: 'reject', step: isStep ? first : undefined, why: reason }
    }
    case 'accept':
      if (isStep && why !== '') return { word: 'accept', step: first, why }
      return { word: 'unclear', message: 'Write `rail accept STEP WHY`.' }
    case 'status':
    case 'pause':
    case 'resume':
    case 'retry':
    case 'stop':
      // More words make it a sentence about a rail.
      return rest === '' ? { word: verb } : undefined
    default:
      return undefined
  }
}

/** A call of the skill `rail`, or the word and nothing but one more. */
const almost = /^(?:[/$](?:[\w.-]+:)*rail(?: .*)?|rail(?: [a-z][a-z-]*)?)$/i

/** Reads a prompt that is meant for a rail and has none of its words; undefined for any other prompt. */
export function readUnknownWord(prompt: string): RailWord | undefined {
  const text = prompt.trim().replaceAll(/\s+/g, ' ')
  if (!almost.test(text) || readRailWord(text, [])) return undefined
  const words =
    '`rail status`, `rail approve`, `rail reject WHY`, `rail retry`, `rail accept STEP WHY`, `rail pause`, `rail resume` and `rail stop`'
  const typed = cutText(safeLine(text), 40)
  return { word: 'unclear', message: `\`${typed}\` does nothing. The words are ${words}.` }
}

/** The words for a terminal, where a gate has commands of its own. */
export const terminalWords = {
  status: 'say where the chain stands',
  pause: 'stop the checks until you resume',
  resume: 'continue after a pause or an error',
  retry: 'give new attempts after failed checks',
  accept: 'continue with a step whose check failed: accept STEP WHY',
  stop: 'give up the chain, and end its guards',
} as const

/** How a user decides the same in a terminal, with the run's ID. */
export function terminalLine(word: RailDecision['word'], runId: string): string {
  switch (word) {
    case 'approve':
    case 'reject':
      return `skillrail runs ${word} ${runId}`
    case 'accept':
      return `skillrail rail accept STEP WHY --run ${runId}`
    case 'pause':
    case 'resume':
    case 'retry':
    case 'stop':
      return `skillrail rail ${word}${runId === '' ? '' : ` --run ${runId}`}`
  }
}

/**
 * Whether a text has a decision that would count as a prompt: alone, on a line of its own, or in quotes. A
 * sentence that names one does not count.
 */
export function holdsDecision(text: string, steps: readonly string[]): boolean {
  return text.split(/["'`\\\n\r]+/).some((part) => {
    const word = readRailWord(part, steps)
    return word !== undefined && word.word !== 'status' && word.word !== 'unclear'
  })
}
