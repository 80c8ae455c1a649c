/// Version 20: `held_until` belongs to queued jobs only.
///
/// Earlier versions kept it in jobs that were paused or cancelled while they were held, and each look for the next job that is due
/// read these jobs.
extension Schema {
    static let heldJobs = """
        UPDATE jobs SET held_until = NULL WHERE held_until IS NOT NULL AND state <> 'queued';

        """
}
