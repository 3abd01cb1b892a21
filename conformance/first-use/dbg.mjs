import { reader, which } from './reader.mjs';
import { chromium } from 'playwright-core';
const me = await reader(3000);
me.write('package.json', JSON.stringify({ name: 'my-chat', private: true, scripts: { dev: 'next dev', build: 'next build', start: 'next start' } }));
me.write('tsconfig.json', JSON.stringify({
      compilerOptions: {
        target: 'ES2017', lib: ['dom', 'dom.iterable', 'esnext'], allowJs: true, skipLibCheck: true, strict: true, noEmit: true, esModuleInterop: true, module: 'esnext',
        moduleResolution: 'bundler', resolveJsonModule: true, isolatedModules: true, jsx: 'react-jsx', incremental: true, plugins: [{ name: 'next' }], paths: { '@/*': ['./*'] },
      },
      include: ['next-env.d.ts', '**/*.ts', '**/*.tsx', '.next/types/**/*.ts'], exclude: ['node_modules', 'bin', 'data'],
    }));
me.write('app/layout.tsx', 'export default function Layout({ children }: { children: React.ReactNode }) {\n  return <html lang="en"><body>{children}</body></html>;\n}\n');
me.copy('quickstart.md', 'chat.tsx', 'app/page.tsx');
const dev = await me.start('guides/nextjs.md', 'dev');
const gateway = await me.start('guides/nextjs.md', 'serve');
const browser = await chromium.launch({ executablePath: which('chromium'), args: ['--no-sandbox'] });
const page = await browser.newPage();
page.on('console', m => console.log('console', m.type(), m.text().slice(0, 300)));
page.on('pageerror', e => console.log('pageerror', e.message));
page.on('response', r => { if (r.status() >= 400) console.log(r.status(), r.url()); });
page.on('requestfailed', r => console.log('failed', r.url(), r.failure().errorText));
console.log(String(gateway.url));
const t = Date.now();
await page.goto(`${gateway.url.origin}/?token=${me.token}`, { timeout: 60000 });
console.log('loaded', Date.now() - t, page.url());
await page.locator('form input').waitFor({ timeout: 20000 }).catch(e => console.log(e.message));
console.log((await page.content()).slice(0, 1500));
console.log(dev.said());
await browser.close();
await me.leave();
process.exit();
