/** Texts that reach a beacon where they become markup, out of text and out of attributes. */
export function hostileTexts(beacon: string): string[] {
  const script = `fetch('${beacon}/ran')`
  return [
    `<script>${script}</script>`,
    `</pre></dd></style></title><script>${script}</script>`,
    `<img src="${beacon}/image" onerror="${script}">`,
    `"><svg onload="${script}">`,
    `' onmouseover='${script}' autofocus onfocus='${script}' tabindex=1 x='`,
    `<meta http-equiv="refresh" content="0;url=${beacon}/gone">`,
    `<link rel="stylesheet" href="${beacon}/style"><style>@import '${beacon}/import'</style>`,
    `<iframe src="${beacon}/frame"></iframe><object data="${beacon}/object"></object>`,
    `<base href="${beacon}/"><form action="${beacon}/form"><input autofocus onfocus="${script}"></form>`,
    `[a](javascript:${script}) &lt;script&gt;${script}&lt;/script&gt; \u003cscript\u003e`,
  ]
}
