/* Browsers start no worker for a page that was opened from a folder (file://), and the theme searches in one.
   There a hidden frame takes its place: the same script, the same messages. From a server nothing changes. */
(() => {
  if (location.protocol !== "file:") return;

  class FrameWorker extends EventTarget {
    constructor(address) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      this.ready = new Promise((resolve) => this.frame.addEventListener("load", resolve));
      this.listen = (event) => {
        if (event.source === inside) this.dispatchEvent(new MessageEvent("message", { data: event.data }));
      };
      window.addEventListener("message", this.listen);
      inside.document.open();
      inside.document.write(`<!doctype html><body><script>
        postMessage = (message) => parent.postMessage(message, "*");
        importScripts = (...all) => all.reduce((before, each) => before.then(() => new Promise((loaded) => {
          const script = document.createElement("script");
          script.src = each;
          script.onload = loaded;
          document.body.append(script);
        })), Promise.resolve());
      <\/script><script src="${address}"><\/script></body>`);
      inside.document.close();
    }

    set onmessage(handler) {
      this.addEventListener("message", handler);
    }

    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      window.removeEventListener("message", this.listen);
      this.frame.remove();
    }
  }

  window.Worker = FrameWorker;
})();
