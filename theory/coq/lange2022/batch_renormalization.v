(* Section 2, (3): batch renormalization trains and infers alike.

   With s = sigma_H/sigma and d = (mu_H - mu)/sigma what is normalized by the batch is what inference
   makes of it by the running mu and sigma.  sigma_H is whatever the batch was divided by, so an
   epsilon in that is one in s as well. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From BatchNorm Require Import Preconditioning.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Theorem batch_renormalization (R : rcfType) N n (H : 'M[R]_(N, n))
    (mu sigma sigma_H gamma beta : 'cV[R]_n) j k :
  let s := sigma_H k 0 / sigma k 0 in let d := (mean H k 0 - mu k 0) / sigma k 0 in
  sigma k 0 != 0 -> sigma_H k 0 != 0 ->
  gamma k 0 * (features H (mean H) sigma_H j k * s + d) + beta k 0 =
  gamma k 0 * features H mu sigma j k + beta k 0.
Proof.
move=> s d sigma0 sigma_H0; rewrite /s /d mxE [features _ _ _ _ _]mxE; field.
by rewrite sigma0 sigma_H0.
Qed.
