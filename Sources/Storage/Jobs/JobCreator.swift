import Downloads
import HTTPSemantics

/// Who creates jobs, as far as the store must know it.
public struct JobCreator: Sendable {
    /// Only jobs of these sessions can give their parts to the new jobs.
    public var visible: VisibleSessions
    /// The token that the jobs count for; nil: they count for none.
    public var token: TokenID?
    public var quotas: TokenQuotas
    /// The trace of the request; nil if it names none.
    public var trace: TraceContext?

    public init(
        visible: VisibleSessions, token: TokenID? = nil, quotas: TokenQuotas = .none, trace: TraceContext? = nil
    ) {
        self.visible = visible
        self.token = token
        self.quotas = quotas
        self.trace = trace
    }

    public static let unlimited = JobCreator(visible: .all)
}
