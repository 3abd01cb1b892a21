// As forgotten, and the promise fails when the trial is over.
export default {
  about: 'forgets an await at its end',
  async run() {
    void new Promise(r => setTimeout(r, 20)).then(() => {
      throw new Error('nobody waits for this either');
    });
  },
};
