// k6/net/grpc: its exports
import m from 'k6/net/grpc';
const names = 'Client Stream StatusOK StatusCanceled StatusUnknown StatusInvalidArgument StatusDeadlineExceeded StatusNotFound StatusAlreadyExists StatusPermissionDenied StatusResourceExhausted StatusFailedPrecondition StatusAborted StatusOutOfRange StatusUnimplemented StatusInternal StatusUnavailable StatusDataLoss StatusUnauthenticated HealthCheckUnknown HealthCheckServing HealthCheckNotServing HealthCheckServiceUnkown'.split(' ');
export default function () {
  for (const k of names) console.log(k, k in m ? (k === 'Client' || k === 'Stream' ? typeof m[k] : Number(m[k])) : 'absent');
}
