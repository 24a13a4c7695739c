/**
 * The page as one text that loads nothing. The build replaces this file with the finished text;
 * from the sources the page is bundled on request.
 */
export async function pageText(): Promise<string> {
  const maker = new URL('../../scripts/view-page.mjs', import.meta.url)
  const { viewPage }: { viewPage(): Promise<string> } = await import(maker.href)
  return await viewPage()
}
