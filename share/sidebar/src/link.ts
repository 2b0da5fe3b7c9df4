import type { Kernel, KernelMessage } from '@jupyterlab/services';
import { PromiseDelegate } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';
import type { SessionModel } from './model';
import type { FromKernel, PanelRequest } from './protocol';
import { COMM_TARGET, decode } from './protocol';

/** The kernel did not carry out a request; the message says why. */
export class Refused extends Error {}

/** A cell that the kernel was asked to run. */
interface IRun {
  readonly request: string;
  readonly cellId: string;
}

type Answer = FromKernel & { request: number | null };

/** Keeps a comm to one kernel open for as long as the kernel has one to offer. */
export class KernelLink implements IDisposable {
  constructor(
    private readonly _kernel: Kernel.IKernelConnection,
    private readonly _model: SessionModel
  ) {
    _kernel.statusChanged.connect(this._settle, this);
    _kernel.connectionStatusChanged.connect(this._reconnected, this);
    _kernel.iopubMessage.connect(this._overheard, this);
    _kernel.anyMessage.connect(this._passed, this);
    this._settle();
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Whether cells and findings are to be told. */
  set subscribed(wanted: boolean) {
    if (wanted === this._subscribed) {
      return;
    }
    this._subscribed = wanted;
    if (this._model.phase.is === 'ready') {
      this._subscribe();
    }
  }

  /** Sends a request; its answer. Rejects with Refused where the kernel does not carry it out. */
  async ask(request: PanelRequest): Promise<Answer> {
    const comm = this._comm;
    if (!comm || comm.isDisposed || this._model.phase.is !== 'ready') {
      throw new Refused('The kernel is not connected.');
    }
    const id = ++this._lastId;
    const answer = new PromiseDelegate<Answer>();
    this._pending.set(id, answer);
    comm.send({ ...request, id });
    return answer.promise;
  }

  /** Runs what a user would type in a kernel that knows no xleak. */
  async loadExtension(): Promise<void> {
    const asked = this._kernel.requestExecute({
      code: '%load_ext xleak',
      store_history: false,
      allow_stdin: false
    });
    const { content } = await asked.done;
    if (content.status === 'error') {
      this._foreign(`${content.ename}: ${content.evalue}`);
    } else {
      this._open();
    }
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    Signal.clearData(this);
    this._close();
  }

  private _settle(): void {
    const { status, connectionStatus } = this._kernel;
    this._model.setBusy(status === 'busy');
    this._hasLived ||= status === 'idle' || status === 'busy';
    if (status === 'dead') {
      this._drop();
      this._model.enter({ is: this._hasLived ? 'dead' : 'failed' });
    } else if (status === 'restarting') {
      this._drop();
      this._asked = [];
      this._model.forget();
      this._model.enter({ is: 'restarting' });
    } else if (status === 'autorestarting') {
      // Of a restart that nobody asked for Lab says first that it is one.
      this._model.crashed();
    } else if (connectionStatus === 'disconnected') {
      this._model.enter({ is: 'disconnected' });
    } else if (connectionStatus === 'connected' && this._isUp) {
      if (!this._comm || this._comm.isDisposed) {
        this._open();
      }
    }
  }

  private get _isUp(): boolean {
    const { status } = this._kernel;
    // Lab 4.6 does not ask a kernel that was started again how it is.
    const isBack = status === 'unknown' && this._model.phase.is === 'restarting';
    return status === 'idle' || status === 'busy' || isBack;
  }

  private _reconnected(): void {
    const { connectionStatus } = this._kernel;
    if (connectionStatus === 'connected' && this._model.phase.is === 'disconnected') {
      // What was said in the meantime may be lost; a new comm tells all. A cell that still runs holds its
      // answer up, and only the former comm tells of that cell.
      const former = this._comm;
      this._drop();
      this._open();
      this._former = former;
    } else if (connectionStatus === 'connecting' && this._comm) {
      this._model.enter({ is: 'disconnected' });
    }
    this._settle();
  }

  /** Somebody typed what makes the kernel know us. */
  private _overheard(_: unknown, message: KernelMessage.IIOPubMessage): void {
    if (this._model.phase.is !== 'foreign') {
      return;
    }
    const parent = 'msg_id' in message.parent_header ? message.parent_header.msg_id : null;
    if (message.header.msg_type === 'execute_input') {
      const { code } = message.content as KernelMessage.IExecuteInputMsg['content'];
      this._loading = /^\s*%?(load_ext|reload_ext)\s+xleak\s*$/m.test(code) ? parent : null;
    } else if (message.header.msg_type === 'status' && this._loading === parent) {
      const { execution_state: state } = message.content as KernelMessage.IStatusMsg['content'];
      if (parent !== null && state === 'idle') {
        this._loading = null;
        this._open();
      }
    }
  }

  /** Keeps what the notebook asked to run, so that a cell is known before the kernel tells of it. */
  private _passed(_: unknown, { msg, direction }: Kernel.IAnyMessageArgs): void {
    const { cellId } = msg.metadata;
    if (direction === 'send' && msg.header.msg_type === 'execute_request') {
      const isWatched = this._comm !== null && this._model.phase.is !== 'unsupported';
      if (isWatched && typeof cellId === 'string') {
        this._expect([...this._asked, { request: msg.header.msg_id, cellId }]);
      }
    } else if (direction === 'recv' && msg.header.msg_type === 'status') {
      const { execution_state: state } = msg.content as KernelMessage.IStatusMsg['content'];
      const ended = state === 'idle' && 'msg_id' in msg.parent_header && msg.parent_header.msg_id;
      this._expect(this._asked.filter(it => it.request !== ended));
    }
  }

  private _expect(asked: readonly IRun[]): void {
    this._asked = asked;
    this._model.setRunning(asked[0]?.cellId ?? null);
  }

  private _open(): void {
    this._close();
    if (!this._kernel.handleComms) {
      this._foreign('Another view of this kernel has its comms.');
      return;
    }
    this._model.enter({ is: 'connecting' });
    const comm = this._kernel.createComm(COMM_TARGET);
    this._comm = comm;
    this._askedBefore = this._asked;
    this._lastId = 0;
    comm.onMsg = message => this._received(comm, message);
    comm.onClose = () => this._closed(comm);
    comm.open();
  }

  private _received(comm: Kernel.IComm, { header, content }: KernelMessage.ICommMsgMsg): void {
    const message = decode(content.data);
    if (comm !== this._comm && (comm !== this._former || message?.kind !== 'live')) {
      return;
    }
    if (!message) {
      console.warn('xleak: a message of the kernel was left out');
      return;
    }
    if (message.kind === 'unsupported') {
      this._model.enter({ is: 'unsupported', protocol: String(message.protocol) });
      return;
    }
    if (message.kind === 'hello') {
      this._met(header.session);
    }
    this._model.take(message);
    if (message.kind === 'hello') {
      this._subscribe();
    }
    if (message.kind === 'cell') {
      const { cell_id: cellId } = message.cell;
      const ended = this._asked.find(it => it.cellId === cellId);
      this._expect(this._asked.filter(it => it !== ended));
    }
    if (message.kind === 'cell' && !this._model.takes('late_findings')) {
      // Nobody else ends a search that did not fit under the cell.
      this.ask({ kind: 'findings' }).catch(() => undefined);
    }
    if ('request' in message && message.kind !== 'progress' && message.request !== null) {
      this._answered(message);
    }
  }

  /** The kernel answers; it may be another process than before, of whose end nothing was heard. */
  private _met(session: string): void {
    if (this._session !== null && this._session !== session) {
      this._model.forget();
      this._model.crashed();
    }
    this._session = session;
    // It answers after all that it was asked before, of whose end nothing may have been heard.
    this._expect(this._asked.filter(it => !this._askedBefore.includes(it)));
    this._end(this._former);
    this._former = null;
  }

  private _answered(message: Answer): void {
    const waiting = message.request === null ? undefined : this._pending.get(message.request);
    this._pending.delete(message.request ?? 0);
    if (message.kind === 'error') {
      waiting?.reject(new Refused(message.message));
    } else {
      waiting?.resolve(message);
    }
  }

  private _closed(comm: Kernel.IComm): void {
    if (comm === this._comm) {
      this._drop();
      this._foreign(null);
    }
  }

  private _foreign(problem: string | null): void {
    const enter = (language: string | null) => {
      if (!this._isDisposed && !this._comm) {
        this._asked = [];
        this._model.forget();
        this._model.enter({ is: 'foreign', language, problem });
      }
    };
    this._kernel.info.then(
      info => enter(info.language_info.name),
      () => enter(null)
    );
  }

  private _subscribe(): void {
    if (!this._subscribed) {
      this._model.muted();
    }
    const asked = this._subscribed || this._wasSubscribed;
    this._wasSubscribed = this._subscribed;
    if (asked) {
      this.ask({ kind: this._subscribed ? 'subscribe' : 'unsubscribe' }).catch(
        (reason: unknown) => {
          console.warn('xleak:', reason);
        }
      );
    }
    if (this._subscribed && this._model.takes('journal')) {
      this.ask({ kind: 'journal' }).catch(() => undefined);
    }
  }

  private _close(): void {
    const comms = [this._comm, this._former];
    this._drop();
    comms.forEach(comm => this._end(comm));
  }

  private _end(comm: Kernel.IComm | null): void {
    if (comm && !comm.isDisposed && !this._kernel.isDisposed) {
      comm.close();
    }
  }

  private _drop(): void {
    this._comm = null;
    this._former = null;
    this._wasSubscribed = false;
    const pending = [...this._pending.values()];
    this._pending.clear();
    for (const waiting of pending) {
      waiting.reject(new Refused('The kernel went away before it answered.'));
    }
  }

  /** What has not ended, in the order of the requests. */
  private _asked: readonly IRun[] = [];
  private _askedBefore: readonly IRun[] = [];
  private _comm: Kernel.IComm | null = null;
  /** The comm of before the connection was cut, until the new one is answered. */
  private _former: Kernel.IComm | null = null;
  /** What the process of the kernel calls its session. */
  private _session: string | null = null;
  private _lastId = 0;
  private readonly _pending = new Map<number, PromiseDelegate<Answer>>();
  private _subscribed = false;
  private _wasSubscribed = false;
  private _loading: string | null = null;
  private _hasLived = false;
  private _isDisposed = false;
}
