import type { ToolOutcome } from '../model.ts'

/**
 * Answers that say the call failed although their server sets no `isError`, by the beginning of
 * their text. Each row is the wording of a known server up to the cause, so that a page, a file or a
 * log which speaks of errors is none.
 */
const wordings: readonly RegExp[] = [
  // chrome-devtools-mcp: navigate_page
  /^Unable to (?:navigate(?: back| forward)? in|reload) the selected page: /,
  // chrome-devtools-mcp: traces and screencasts
  /^Error: (?:a|no active) (?:performance trace|screencast)(?: recording)? (?:is already|to stop)/,
  // chrome-devtools-mcp: comments
  /^Failed to (?:open DevTools: |resolve comment thread ")/,
  // context7
  /^Error (?:fetching library context\. Please try again later\.|searching libraries: )/,
  // Playwright
  /^### Error\n/,
  // Puppeteer and Playwright, in the words of a browser: `page.goto: net::ERR_… at http://…`
  /^(?:Error: )?(?:[\w.]{1,40}: )?(?:net::ERR_[A-Z_]{1,80}|NS_ERROR_[A-Z_]{1,80}) at \S{1,2000}\s*(?:\n|$)/,
]

/** `# navigate_page response`, which some servers put above their answer. */
const heading = /^# \w{1,100} response\n+/

/** Whether the text of an answer is one of a failure. */
export function tellsFailure({ content }: ToolOutcome): boolean {
  const [first] = content
  if (first?.type !== 'text') return false
  const text = first.text.slice(0, 3000).trimStart().replace(heading, '')
  return wordings.some((wording) => wording.test(text))
}
