import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// The gateway answers /api, with the token of whoever runs this server. TRIBUTARY names another gateway.
const token = process.env.TRIBUTARY_TOKEN;

export default defineConfig({
  plugins: [react()],
  server: {
    proxy: {
      '/api': {
        target: process.env.TRIBUTARY ?? 'http://127.0.0.1:8787', changeOrigin: true, ws: true,
        headers: token ? { authorization: `Bearer ${token}` } : {},
      },
    },
  },
});
