import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { backend } from './backend';

const gateway = process.env.TRIBUTARY_URL ?? 'http://127.0.0.1:8787';

export default defineConfig({
  plugins: [react(), {
    name: 'backend',
    configureServer: server => { server.middlewares.use(backend); },
    configurePreviewServer: server => { server.middlewares.use(backend); },
  }],
  server: { proxy: { '/api': gateway } },
  preview: { proxy: { '/api': gateway } },
});
