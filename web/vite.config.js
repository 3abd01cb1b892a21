import { defineConfig } from 'vite';
import react from '@vitejs/plugin-react';

// `npm run dev` serves the page on its own port and passes /api on; TRIBUTARY names the gateway,
// TRIBUTARY_TOKEN its token.
const token = process.env.TRIBUTARY_TOKEN;

export default defineConfig({
  plugins: [react()],
  // dist/.gitkeep stays, so that the Go package builds where the page was not built.
  build: { outDir: 'dist', emptyOutDir: false, target: 'es2022', sourcemap: false, modulePreload: { polyfill: false }, assetsInlineLimit: 0 },
  server: {
    host: '127.0.0.1',
    proxy: {
      '/api': {
        target: process.env.TRIBUTARY ?? 'http://127.0.0.1:8787',
        changeOrigin: true,
        headers: token ? { authorization: `Bearer ${token}` } : {},
      },
    },
  },
});
