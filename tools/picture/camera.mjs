// A camera that takes pictures of a page, one after another, and makes a GIF of them.
import gifenc from 'gifenc';
import { PNG } from 'pngjs';

const { GIFEncoder, applyPalette, quantize } = gifenc;

/** Takes a picture about every tenth of a second. Equal pictures become one that lasts longer. */
export class Camera {
  frames = [];
  #page;
  #running = false;
  #work = Promise.resolve();

  constructor(page) {
    this.#page = page;
  }

  start() {
    this.#running = true;
    this.#work = this.#run();
  }

  /** Returns when the last picture is taken. */
  async stop() {
    this.#running = false;
    await this.#work;
  }

  async #run() {
    while (this.#running) {
      const began = Date.now();
      const png = await this.#page.screenshot({ caret: 'initial' }).catch(() => null); // the page is being reloaded
      await new Promise(done => setTimeout(done, Math.max(0, 100 - (Date.now() - began))));
      const took = Date.now() - began;
      const last = this.frames.at(-1);
      if (png && last && png.equals(last.png)) last.ms += took;
      else if (png) this.frames.push({ png, ms: took });
      else if (last) last.ms += took;
    }
  }

  /** The GIF. It repeats without end, and rests on its last picture. */
  gif() {
    const out = GIFEncoder();
    this.frames.at(-1).ms += 2000;
    for (const { png, ms } of this.frames) {
      const { data, width, height } = PNG.sync.read(png);
      const palette = quantize(data, 128);
      out.writeFrame(applyPalette(data, palette), width, height, { palette, delay: Math.min(ms, 4000) });
    }
    out.finish();
    return Buffer.from(out.bytes());
  }
}
