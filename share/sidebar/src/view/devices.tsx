import type { Devices as DevicesMessage } from '../contract/messages';
import { humanBytes } from '../format';
import type { NotebookWatch } from '../watch';
import { RefreshButton, useAsking } from './asking';
import { Figures } from './figures';
import type { IView } from './view';

type Device = DevicesMessage['devices'][number];

interface IDevicesProps {
  view: IView;
  watch: NotebookWatch;
}

/** The memory of each accelerator that a framework uses. */
export function Devices({ view, watch }: IDevicesProps): React.JSX.Element {
  const { trans, actions } = view;
  const { devices } = watch.model;
  const [asking, ask] = useAsking();
  return (
    <div className="jp-xleak-Devices">
      <div className="jp-xleak-Controls">
        <span className="jp-xleak-quiet">
          {!devices
            ? trans.__('Read what is in use on accelerators.')
            : devices.devices.length === 0
              ? trans.__('No accelerator is in use.')
              : ''}
        </span>
        <RefreshButton
          label={trans.__('Read the devices')}
          asking={asking}
          onClick={() => void ask(() => actions.refresh(watch, 'devices'))}
        />
      </div>
      {devices?.devices.map(device => (
        <Card key={device.device} device={device} view={view} />
      ))}
    </div>
  );
}

function Card({ device, view }: { device: Device; view: IView }) {
  const { trans } = view;
  const facts: [string, number | null][] = [
    [trans.__('Allocated'), device.allocated_bytes],
    [trans.__('Reserved'), device.reserved_bytes],
    [trans.__('Fragmented'), device.inactive_split_bytes],
    [trans.__('Total'), device.total_bytes]
  ];
  return (
    <section className="jp-xleak-Device" aria-label={device.device}>
      <h4>{device.device}</h4>
      <Usage device={device} />
      <Figures of={facts} />
      <p className="jp-xleak-quiet">
        {device.others === null
          ? trans.__('What other processes hold is unknown.')
          : device.others.length === 0
            ? trans.__('No other process uses it.')
            : trans.__('Other processes')}
      </p>
      <ul className="jp-xleak-Lines">
        {device.others?.map(it => (
          <li
            key={it.pid}
          >{`${it.name ?? trans.__('process')} (${it.pid}): ${humanBytes(it.bytes)}`}</li>
        ))}
      </ul>
    </section>
  );
}

function Usage({ device }: { device: Device }) {
  const { allocated_bytes: allocated, reserved_bytes: reserved, total_bytes: whole } = device;
  const of = whole ?? reserved;
  if (!of) {
    return null;
  }
  const percent = (size: number | null) => `${Math.min(100, (100 * (size ?? 0)) / of)}%`;
  return (
    <svg className="jp-xleak-Usage" aria-hidden="true">
      <rect className="jp-xleak-whole" width="100%" height="100%" />
      <rect className="jp-xleak-reserved" width={percent(reserved)} height="100%" />
      <rect className="jp-xleak-device" width={percent(allocated)} height="100%" />
    </svg>
  );
}
