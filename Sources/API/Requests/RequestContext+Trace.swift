import HTTPSemantics
import HTTPTypes

extension RequestContext {
    /// The trace that the request belongs to; nil if it names none, or an invalid one, which is ignored as the
    /// specification asks.
    var trace: TraceContext? {
        guard head.headers.contains(.traceParent), let parent = head.headers[.traceParent] else { return nil }
        return TraceContext(parent: parent, state: head.headers[.traceState])
    }
}

extension HTTPField.Name {
    fileprivate static let traceParent = HTTPField.Name("traceparent")!
    fileprivate static let traceState = HTTPField.Name("tracestate")!
}
