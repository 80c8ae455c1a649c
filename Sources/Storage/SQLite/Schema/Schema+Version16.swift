/// Version 16: the traces of jobs.
extension Schema {
    /// `traceparent`, and after a blank `tracestate` if there is one (W3C Trace Context). NULL: the request that created the
    /// job named no trace, or an earlier version created the job.
    static let traces = """
        ALTER TABLE jobs ADD COLUMN trace TEXT;

        """
}
