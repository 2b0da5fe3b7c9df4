import { LabIcon } from '@jupyterlab/ui-components';
import dropSvg from '../style/drop.svg';

export const dropIcon = new LabIcon({ name: 'xleak:drop', svgstr: dropSvg });
