interface SpokenName {
  parameter: RegExp
  words: readonly string[]
  /** Whether any word after it is a value, and not only one that looks like a name. */
  plain?: boolean
}

/** Words by which people name what a parameter wants, besides the words of its name. */
export const spokenNames: readonly SpokenName[] = [
  { parameter: /^page_?(?:id|idx|index)$/i, words: ['page', 'tab'] },
  { parameter: /^(?:uid|element_?(?:id|uid)|node_?id)$/i, words: ['element', 'uid'] },
  {
    parameter: /^pull_?(?:number|request_?(?:number|id))$/i,
    words: ['pull request', 'pull', 'pr'],
  },
  { parameter: /^issue_?(?:number|id)$/i, words: ['issue', 'ticket', 'bug'] },
  { parameter: /^type_?name$/i, words: ['type'] },
  { parameter: /^field_?name$/i, words: ['field'] },
  { parameter: /^table(?:_?name)?$/i, words: ['table'], plain: true },
  {
    parameter: /^(?:database(?:_?name)?|db(?:_?name)?)$/i,
    words: ['database', 'db', 'schema'],
    plain: true,
  },
  { parameter: /^(?:library|package)(?:_?name)?$/i, words: ['library', 'package'] },
  { parameter: /^library_?id$/i, words: ['library'] },
  { parameter: /^(?:sha|commit(?:_?(?:sha|id))?|ref)$/i, words: ['commit', 'sha'] },
  { parameter: /^branch(?:_?name)?$/i, words: ['branch'], plain: true },
  { parameter: /^req_?id$/i, words: ['request'] },
  { parameter: /^msg_?id$/i, words: ['message'] },
  { parameter: /^(?:user_?name|login|assignee|author)$/i, words: ['user', 'by', 'author'] },
  { parameter: /^key$/i, words: ['key'] },
  { parameter: /^(?:node|entity)_?names?$/i, words: ['entity', 'node'] },
]

/** Words after `table` or `branch` that continue the sentence instead of naming one. */
export const sentenceWords: ReadonlySet<string> = new Set(
  'a all an and are as at by columns details for from has in indexes into is it its keys list name named names of on or schema size structure that the then this to where which with'.split(
    ' ',
  ),
)

/** Words that switch a flag on, besides the words of its name. */
export const spokenFlags: readonly {
  parameter: RegExp
  on: RegExp
  off?: RegExp
}[] = [
  {
    parameter: /^(?:ignore_?cache|no_?cache|bypass_?cache|hard)$/i,
    on: /\b(?:hard|force(?:d|fully)?|(?:ignor\w+|bypass\w*|without|skip\w*|clear\w*) (?:the )?cache)\b/i,
  },
  {
    parameter: /^full_?page$/i,
    on: /\b(?:(?:full|whole|entire|complete)[ -]page|page)\b/i,
    off: /\b(?:viewport|visible (?:part|area)|element|above the fold)\b/i,
  },
  {
    parameter: /^recursive(?:ly)?$/i,
    on: /\b(?:recursive(?:ly)?|subdirector(?:y|ies)|subfolders?|all levels)\b/i,
  },
  { parameter: /^dry_?run$/i, on: /\bdry[ -]run\b|\bwithout (?:writing|changing)\b/i },
  { parameter: /^draft$/i, on: /\bdraft\b/i },
  { parameter: /^private$/i, on: /\bprivate\b/i, off: /\bpublic\b/i },
  { parameter: /^(?:dbl|double)_?click$/i, on: /\bdouble[ -]?click/i },
  { parameter: /^verbose$/i, on: /\b(?:verbose|detailed|in detail)\b/i },
  { parameter: /^(?:run_?in_?)?background$/i, on: /\bin the background\b/i },
  { parameter: /^(?:new_?tab|in_?new_?tab)$/i, on: /\bnew tab\b/i },
  { parameter: /^accept$/i, on: /\baccept\b/i, off: /\b(?:dismiss|cancel|decline)\b/i },
  { parameter: /^reload$/i, on: /\breload/i },
]

/** Words that stand for a member of an enumeration, besides the member's own name. */
export const spokenChoices: readonly { choice: RegExp; words: RegExp }[] = [
  { choice: /^url$/i, words: /\b(?:go to|navigate to|open|visit|browse to)\b/i },
  { choice: /^reload$/i, words: /\b(?:reload|refresh)\b/i },
  { choice: /^back$/i, words: /\b(?:go back|back|previous page)\b/i },
  { choice: /^forward$/i, words: /\b(?:go forward|forward|next page)\b/i },
  { choice: /^(?:warn|warning)$/i, words: /\bwarn(?:ing)?s?\b/i },
  { choice: /^error$/i, words: /\berrors?\b/i },
  { choice: /^fetch$/i, words: /\bfetch(?:es)?\b/i },
  { choice: /^jpeg$/i, words: /\bjpe?g\b/i },
  { choice: /^approve$/i, words: /\bapprov(?:e|ed|ing)\b/i },
  { choice: /^request_changes$/i, words: /\brequest(?:ing)? changes\b/i },
  { choice: /^closed$/i, words: /\bclosed?\b/i },
  { choice: /^all$/i, words: /\ball\b/i },
  { choice: /^desc(?:ending)?$/i, words: /\b(?:descending|newest|latest|most recent)\b/i },
  { choice: /^asc(?:ending)?$/i, words: /\b(?:ascending|oldest)\b/i },
  { choice: /^cpu$/i, words: /\bcpu\b/i },
]

/** Phrases whose one group is the value of a parameter of that name. Each is tried in order. */
export const spokenValues: readonly { parameter: RegExp; phrases: readonly RegExp[] }[] = [
  {
    parameter:
      /^(?:from_?(?:uid|ref|element)?|source(?:_?(?:path|uid|file))?|start_?(?:ref|element)?|src|old_?(?:path|name)|from_?(?:path|file|branch))$/i,
    phrases: [
      /\bfrom\s+(\S{1,500})\s+(?:to|into|onto)\b/i,
      /\b(?:drag|move|rename|copy|merge)\s+(?:the\s+)?(?:file\s+|element\s+|uid\s+)?(\S{1,500})\s+(?:to|into|onto|over)\b/i,
    ],
  },
  {
    parameter:
      /^(?:to_?(?:uid|ref|element)?|dest(?:ination)?(?:_?(?:path|uid|file))?|end_?(?:ref|element)?|target(?:_?(?:path|uid))?|new_?(?:path|name)|to_?(?:path|file|branch))$/i,
    phrases: [
      /\b(?:drag|move|rename|copy|merge|from)\b[^\n]{1,500}?\s(?:to|into|onto|over)\s+(?:the\s+)?(?:uid\s+|element\s+)?(\S{1,500})/i,
    ],
  },
  {
    parameter: /^key(?:s|_?combination)?$/i,
    phrases: [/\b(?:press|hit)\s+(?:the\s+)?(?:key\s+)?(\S{1,40})/i],
  },
  {
    parameter: /^(?:value|text|new_?value)$/i,
    phrases: [
      /\b(?:fill|set)\b[^\n]{1,300}?\s(?:with|to)\s+(\S[^\n]{0,2000})$/i,
      /\b(?:type|enter|write|input)\s+(?!in\b|into\b)(\S[^\n]{0,1000}?)\s+(?:in|into|to)\b/i,
      /\bwait\s+(?:for|until)\s+(?:the\s+text\s+)?(\S[^\n]{0,500}?)(?:\s+(?:appears?|is shown|shows up))?$/i,
      /\b(?:type|enter)\s+(\S[^\n]{0,1000})$/i,
    ],
  },
  {
    parameter: /^(?:message|body|comment|content|text|contents|observation)$/i,
    phrases: [
      /\b(?:saying|that says|which says|with (?:the )?(?:text|message|body|content|comment))\s*:?\s+(\S[^\n]{0,4000})$/i,
    ],
  },
  {
    parameter: /^(?:title|name|subject|display_?name|repo(?:sitory)?_?name)$/i,
    phrases: [
      /\b(?:titled|called|named|entitled|with (?:the )?title)\s+(\S[^\n]{0,300}?)(?=\s+(?:in|on|from|to|with|at|for)\b|[,;]|$)/i,
    ],
  },
  {
    parameter: /^(?:libraryName|library|package(?:_?name)?)$/i,
    phrases: [
      /\b(?:docs?|documentation|reference|examples?|usage|guide|api|help)\s+(?:for|of|on|about)\s+(?:the\s+)?([\w@./+#-]{1,100})/i,
      /\b([\w@./+#-]{1,100})\s+(?:docs|documentation)\b/i,
      /\b(?:library|package)\s+(?:id\s+)?(?:for|of|named|called)\s+([\w@./+#-]{1,100})/i,
    ],
  },
  {
    parameter: /^(?:query|topic|question)$/i,
    phrases: [
      /\b(?:docs?|documentation|reference|examples?|usage|guide)\s+(?:for|of|on|about)\s+(?:the\s+)?[\w@./+#-]{1,100}\s+(?:about\s+|on\s+)?(\S[^\n]{0,500})$/i,
    ],
  },
  {
    parameter:
      /^(?:query|q|search(?:_?(?:term|query|text))?|term|keywords?|topic|pattern|filter|text|name|question|regex)$/i,
    phrases: [
      /\b(?:containing|matching|mentioning|including|that contain|that match|that mention|like|named|called)\s+(\S[^\n]{0,500}?)(?=\s+(?:in|on|from|within|under|inside)\s|[,;]|$)/i,
      /\b(?:search|look|find|grep|query|ask)\b[^\n]{0,200}?\s(?:for|about)\s+(?:the\s+)?(\S[^\n]{0,500}?)(?=\s+(?:in|on|from|within|under|inside)\s|[,;]|$)/i,
      /\b(?:about|regarding|concerning)\s+(\S[^\n]{0,500}?)(?=\s+(?:in|on|from|within|under|inside)\s|[,;]|$)/i,
      /\b(?:docs?|documentation)\s+(?:for|of|on)\s+(\S[^\n]{0,300})$/i,
      /\bsearch\s+(?!for\b|in\b|the\b|all\b|through\b)(\S[^\n]{0,300}?)(?=\s+(?:in|on|from|within|under|inside)\s|[,;]|$)/i,
    ],
  },
  {
    parameter: /^(?:path|dir(?:ectory)?|folder)$/i,
    phrases: [
      /\b(?:files?|entries|contents?|director(?:y|ies)|folders?)\s+(?:in|of|inside|under|below)\s+(?!(?:a|all|an|any|each|every|it|my|our|that|the|these|this|which)\b)([\w.@~-]{1,200})(?![\w/])/i,
    ],
  },
  {
    parameter: /^labels?$/i,
    phrases: [
      /\b(?:labell?ed|tagged|with (?:the )?labels?|labels?)\s+(?:as\s+|with\s+)?((?:[\w:./-]{1,60})(?:(?:\s*,\s*|\s+and\s+)[\w:./-]{1,60}){0,20})/i,
    ],
  },
  {
    parameter: /^(?:owner|org(?:anization)?|user_?name)$/i,
    phrases: [
      /\b(?:owner|organi[sz]ation|org|user|of user)\s+([\w-]{1,39})\b/i,
      /\bby\s+@?([\w-]{1,39})\b/i,
    ],
  },
  {
    parameter: /^repo(?:sitory)?(?:_?name)?$/i,
    phrases: [/\b(?:repo(?:sitory)?)\s+(?:called\s+|named\s+)?([\w.-]{1,100})\b/i],
  },
  { parameter: /^thought$/i, phrases: [/^(\S[\s\S]{0,4000})$/] },
  {
    parameter: /^(?:prompt|task|instructions?|question)$/i,
    phrases: [/\b(?:to|:)\s+(\S[^\n]{0,4000})$/i, /^(\S[\s\S]{0,4000})$/],
  },
]

/**
 * Values that a first call of a kind customarily has and that a request does not spell out. The
 * first three are the seed's example of a chain of thoughts; the last its row for labelled issues.
 */
export const customaryValues: readonly {
  parameter: RegExp
  tool: RegExp
  value: string | number | boolean
  /** Only for an enumeration that has this member too. */
  beside?: string
}[] = [
  { parameter: /^thoughtNumber$/, tool: /thinking/i, value: 1 },
  { parameter: /^totalThoughts$/, tool: /thinking/i, value: 4 },
  { parameter: /^nextThoughtNeeded$/, tool: /thinking/i, value: true },
  { parameter: /^state$/, tool: /list[_-]?(?:issues|pull)/i, value: 'open', beside: 'closed' },
]
