/** The page as one text; the build replaces this file, and sources bundle the page on request. */
export async function pageText(): Promise<string> {
  const maker = new URL('../../dev/view-page.mjs', import.meta.url)
  const { viewPage }: { viewPage(): Promise<string> } = await import(maker.href)
  return await viewPage()
}
