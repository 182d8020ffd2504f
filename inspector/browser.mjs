// The Inspector's web page, driven as a person would: connect, pick a tool, fill it in, answer.

import { chromium } from 'playwright-core';

const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'];
const QUIET = ['--disable-component-update', '--disable-sync', '--hide-scrollbars', '--force-device-scale-factor=1'];
const PATIENCE = 30_000;

export async function launch(address) {
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  const browser = await chromium.launch({ executablePath, args: [...FLAGS, ...QUIET] });
  return { connect: (server) => Session.open(browser, address, server), close: () => browser.close() };
}

// One connection to one entry of mcp.json.
class Session {
  static async open(browser, address, server) {
    const page = await browser.newPage({ viewport: { width: 1400, height: 760 }, reducedMotion: 'reduce' });
    page.setDefaultTimeout(PATIENCE);
    await page.goto(address);
    const session = new Session();
    session.page = page;
    session.power = page.getByRole('switch', { name: `Connect or disconnect "${server}"`, exact: true });
    await session.power.click({ force: true });
    await page.waitForSelector('[data-testid="connection-status"][data-status="connected"]');
    await page.getByRole('button', { name: 'Close monitoring sidebar' }).click();
    await page.getByText('Tools', { exact: true }).click();
    await page.getByText(/^Tools \(\d+\)$/).waitFor();
    return session;
  }

  // Names in the list; every title stands above its name.
  async names(known) {
    const lines = (await this.page.locator('body').innerText()).split('\n');
    return known.filter((name) => lines.includes(name));
  }

  // Badges beside the description of a tool.
  async pick(name, title) {
    await this.page.getByText(name, { exact: true }).click();
    await this.page.getByRole('button', { name: 'Execute Tool' }).waitFor();
    await this.page.getByText(title, { exact: true }).nth(1).waitFor();
    const known = ['READ-ONLY', 'DESTRUCTIVE', 'IDEMPOTENT', 'OPEN-WORLD'];
    const badges = await this.page.locator('.mantine-Badge-label').allInnerTexts();
    return badges.map((badge) => badge.toUpperCase()).filter((badge) => known.includes(badge));
  }

  async execute(fields) {
    for (const [label, value] of Object.entries(fields)) {
      await this.page.getByLabel(new RegExp(`^${label}`)).fill(value);
    }
    await this.page.getByRole('button', { name: 'Execute Tool' }).click();
  }

  async question() {
    const dialog = this.page.getByRole('dialog');
    await dialog.getByText('Elicitation Request').waitFor();
    return dialog.innerText();
  }

  async answer(button) {
    const dialog = this.page.getByRole('dialog');
    if (button === 'Submit') await dialog.getByLabel('Go ahead').check();
    await dialog.getByRole('button', { name: button }).click();
    await dialog.waitFor({ state: 'hidden' });
  }

  // Wait until the page says this.
  async says(text) {
    try {
      await this.page.waitForFunction((source) => new RegExp(source).test(document.body.innerText), text.source);
    } catch (error) {
      throw new Error(`the page does not say ${text}, but: ${await this.text()}`, { cause: error });
    }
  }

  async picture(path) {
    await this.page.mouse.move(0, 0);
    await this.page.evaluate(() => document.activeElement?.blur());
    await this.page.screenshot({ path, animations: 'disabled' });
    return this.text();
  }

  text() {
    return this.page.locator('body').innerText();
  }

  async close() {
    await this.page.close();
  }
}
