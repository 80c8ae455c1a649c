import Downloads

/// Who creates jobs, as far as the store must know it.
public struct JobCreator: Sendable {
    /// Only jobs of these sessions can give their parts to the new jobs.
    public var visible: VisibleSessions

    public init(visible: VisibleSessions) { self.visible = visible }

    public static let unlimited = JobCreator(visible: .all)
}
